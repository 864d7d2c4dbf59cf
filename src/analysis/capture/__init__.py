"""Getting the evidence: metric pages of live servers, and logs of boots, written as a study directory is read."""
