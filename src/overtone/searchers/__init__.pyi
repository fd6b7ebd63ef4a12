from overtone.searchers.auto.auto import AutoSearch as AutoSearch
from overtone.searchers.basic import BasicVariantGenerator as BasicVariantGenerator
from overtone.searchers.basic import RandomSearch as RandomSearch
from overtone.searchers.limiter import ConcurrencyLimiter as ConcurrencyLimiter
from overtone.searchers.listed import Listed as Listed
from overtone.searchers.listed import is_listing as is_listing
from overtone.searchers.repeater import Repeater as Repeater
from overtone.searchers.sobol import SobolSearch as SobolSearch
