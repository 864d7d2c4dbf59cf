"""One module a question: the store in, Estimates and the sentence that states the answer out."""
