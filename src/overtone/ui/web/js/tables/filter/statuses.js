/** The statuses of trials, also those that no trial has now. */
export const STATUSES = ["PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR"];
