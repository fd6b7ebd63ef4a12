"""Services that track experiments, each as a projection of the journal that a process of its own makes."""
