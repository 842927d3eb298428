"""Many workers and one database in virtual time: the cluster's own code, with faults from a seed."""
