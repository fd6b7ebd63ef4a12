from overtone.engines.local.engine import Local as Local
