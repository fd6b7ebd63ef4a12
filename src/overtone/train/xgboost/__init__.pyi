from overtone.train.xgboost.config import XGBoostConfig as XGBoostConfig
from overtone.train.xgboost.report_callback import RayTrainReportCallback as RayTrainReportCallback
from overtone.train.xgboost.xgboost_trainer import XGBoostTrainer as XGBoostTrainer
