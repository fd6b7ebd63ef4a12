"""The worker side: the trial's session, the class API and the processes that run trials."""
