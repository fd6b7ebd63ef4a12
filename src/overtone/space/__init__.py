"""Search spaces: domains, how users write them, and what can be made of them."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.space.categorical": "Categorical",
    "overtone.space.constraint": "Space allows space",
    "overtone.space.cube": "Cube Dimension",
    "overtone.space.data": "decode_config describe encode_config is_data space_from_data space_to_data",
    "overtone.space.domain": "Domain",
    "overtone.space.draw": "RngFor sample",
    "overtone.space.dsl": "choice grid_search lograndint loguniform normal_prior qlograndint "
    "qloguniform qrandint qrandn quniform randint randn sample_from uniform",
    "overtone.space.function": "Function",
    "overtone.space.interval": "Float Integer",
    "overtone.space.normal": "Normal",
    "overtone.space.pins": "nested pin",
    "overtone.space.prior": "NormalPrior",
    "overtone.space.tags": "flatten tag variables",
    "overtone.space.tree": "parse",
    "overtone.space.variants": "Variants count grid_points",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.space.categorical import Categorical as Categorical
    from overtone.space.constraint import Space as Space
    from overtone.space.constraint import allows as allows
    from overtone.space.constraint import space as space
    from overtone.space.cube import Cube as Cube
    from overtone.space.cube import Dimension as Dimension
    from overtone.space.data import decode_config as decode_config
    from overtone.space.data import describe as describe
    from overtone.space.data import encode_config as encode_config
    from overtone.space.data import is_data as is_data
    from overtone.space.data import space_from_data as space_from_data
    from overtone.space.data import space_to_data as space_to_data
    from overtone.space.domain import Domain as Domain
    from overtone.space.draw import RngFor as RngFor
    from overtone.space.draw import sample as sample
    from overtone.space.dsl import choice as choice
    from overtone.space.dsl import grid_search as grid_search
    from overtone.space.dsl import lograndint as lograndint
    from overtone.space.dsl import loguniform as loguniform
    from overtone.space.dsl import normal_prior as normal_prior
    from overtone.space.dsl import qlograndint as qlograndint
    from overtone.space.dsl import qloguniform as qloguniform
    from overtone.space.dsl import qrandint as qrandint
    from overtone.space.dsl import qrandn as qrandn
    from overtone.space.dsl import quniform as quniform
    from overtone.space.dsl import randint as randint
    from overtone.space.dsl import randn as randn
    from overtone.space.dsl import sample_from as sample_from
    from overtone.space.dsl import uniform as uniform
    from overtone.space.function import Function as Function
    from overtone.space.interval import Float as Float
    from overtone.space.interval import Integer as Integer
    from overtone.space.normal import Normal as Normal
    from overtone.space.pins import nested as nested
    from overtone.space.pins import pin as pin
    from overtone.space.prior import NormalPrior as NormalPrior
    from overtone.space.tags import flatten as flatten
    from overtone.space.tags import tag as tag
    from overtone.space.tags import variables as variables
    from overtone.space.tree import parse as parse
    from overtone.space.variants import Variants as Variants
    from overtone.space.variants import count as count
    from overtone.space.variants import grid_points as grid_points

__getattr__, __dir__ = attach(__name__, _NAMES)
