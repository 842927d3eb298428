"""Reruns of the experiments in the papers, with the code of a real crawl in virtual time."""
