"""
Search with scikit-learn
========================

``TuneSearchCV`` takes the place of ``RandomizedSearchCV``. With ``early_stopping=True``, it stops candidates that are
behind the best one after some folds.
"""

# %%
# The data are 1,797 images of handwritten digits; a third of them is kept for the end.

from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from overtone.sklearn import TuneSearchCV

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)

# %%
# The search fits support vector machines.

search = TuneSearchCV(
    SVC(),
    {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-5, 1e-1)},
    n_trials=12,
    early_stopping=True,
    random_state=0,
)
search.fit(X, y)

# %%
# The object is an estimator of scikit-learn, fitted with the best parameters.

print("best parameters:", {name: float(f"{value:.3g}") for name, value in search.best_params_.items()})
print("accuracy on new images:", round(search.score(X_test, y_test), 3))
print(sum(search.cv_results_["n_resources"]), "fits instead of", 12 * search.n_splits_)
