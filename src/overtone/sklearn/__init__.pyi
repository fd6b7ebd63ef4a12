from overtone.sklearn.search import TuneGridSearchCV as TuneGridSearchCV
from overtone.sklearn.search import TuneSearchCV as TuneSearchCV
