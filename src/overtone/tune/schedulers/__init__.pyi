from overtone.core.decision import CONTINUE as CONTINUE
from overtone.core.decision import Add as Add
from overtone.core.decision import Continue as Continue
from overtone.core.decision import Pause as Pause
from overtone.core.decision import Restart as Restart
from overtone.core.decision import Save as Save
from overtone.core.decision import Stop as Stop
from overtone.core.types import Why as Why
from overtone.named import create_scheduler as create_scheduler
from overtone.schedulers.asha import ASHAScheduler as ASHAScheduler
from overtone.schedulers.auto import AutoScheduler as AutoScheduler
from overtone.schedulers.bohb import HyperBandForBOHB as HyperBandForBOHB
from overtone.schedulers.dehb import DEHB as DEHB
from overtone.schedulers.fifo import FIFOScheduler as FIFOScheduler
from overtone.schedulers.median import MedianStoppingRule as MedianStoppingRule
from overtone.schedulers.moasha import MOASHA as MOASHA
from overtone.schedulers.pasha import PASHA as PASHA
from overtone.schedulers.priorband import PriorBand as PriorBand
from overtone.schedulers.resize import ResourceChangingScheduler as ResourceChangingScheduler
from overtone.schedulers.schedule import Cosine as Cosine
from overtone.schedulers.schedule import Exponential as Exponential
from overtone.schedulers.schedule import HyperparameterSchedule as HyperparameterSchedule
from overtone.schedulers.schedule import Linear as Linear
from overtone.schedulers.schedule import Steps as Steps
from overtone.schedulers.successive_halving import SuccessiveHalving as SuccessiveHalving
from overtone.tune.schedulers import async_hyperband as async_hyperband
from overtone.tune.schedulers import hb_bohb as hb_bohb
from overtone.tune.schedulers import hyperband as hyperband
from overtone.tune.schedulers import median_stopping_rule as median_stopping_rule
from overtone.tune.schedulers import pb2 as pb2
from overtone.tune.schedulers import pbt as pbt
from overtone.tune.schedulers import resource_changing_scheduler as resource_changing_scheduler
from overtone.tune.schedulers import trial_scheduler as trial_scheduler
from overtone.tune.schedulers.async_hyperband import ASHA as ASHA
from overtone.tune.schedulers.async_hyperband import FIFO as FIFO
from overtone.tune.schedulers.async_hyperband import AsyncHyperBandScheduler as AsyncHyperBandScheduler
from overtone.tune.schedulers.hyperband import HyperBand as HyperBand
from overtone.tune.schedulers.hyperband import HyperBandScheduler as HyperBandScheduler
from overtone.tune.schedulers.pb2 import PB2 as PB2
from overtone.tune.schedulers.pbt import PopulationBasedTraining as PopulationBasedTraining
from overtone.tune.schedulers.pbt import PopulationBasedTrainingReplay as PopulationBasedTrainingReplay
from overtone.tune.schedulers.resource_changing_scheduler import (
    DistributeResources as DistributeResources,
)
from overtone.tune.schedulers.resource_changing_scheduler import (
    DistributeResourcesToTopJob as DistributeResourcesToTopJob,
)
from overtone.tune.schedulers.trial_scheduler import TrialScheduler as TrialScheduler
