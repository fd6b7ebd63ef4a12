from overtone.tune.utils.gpu import wait_for_gpu as wait_for_gpu
from overtone.tune.utils.rehearsal import diagnose_serialization as diagnose_serialization
from overtone.tune.utils.rehearsal import validate_save_restore as validate_save_restore
