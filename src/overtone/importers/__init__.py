"""Results of other tuners as experiments of Overtone. Nothing there is unpickled, imported or executed."""
