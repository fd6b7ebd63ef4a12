from overtone.observers.projections import file_observers as file_observers
from overtone.observers.projections import rebuild as rebuild
from overtone.observers.projections import reconcile as reconcile
