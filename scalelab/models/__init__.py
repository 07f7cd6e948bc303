"""Pure functions from given numbers to predicted ones: no clock, no printing, no plots.

The module a section is named after comes first; the others hold its further ideas, one each.

3.1  speedup; statistical (what more compute is worth to the model that is trained)
3.2  hardware, memory, up_or_out, failures
3.3  study
3.4  tail, stragglers, hedging, omission; queues, simulated, closed, mg1, md1, capacity;
     batching, gathering, timeouts
3.5  laws
3.6  workdepth, dags, rank_dags, pipeline, autograd; schedule, timeline
3.7  roofline, alarms; kernels, attention, transformer, conventions
3.8  network, messages, algorithms, collectives, crossover, hierarchy, overlap, bandwidth
3.9  step, bottleneck, mfu, cost, spot, preempted, sizing, energy, intervals
"""
