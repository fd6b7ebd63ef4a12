"""What runs beside the user's training code: the session, the class API, the body of a trial."""
