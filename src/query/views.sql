-- Views with the names and columns of the profiler's databases and of the public skills for them.
CREATE VIEW compute_view AS
SELECT rank, start, start + dur AS end, dur, name, op_type, core, shapes, stream, step FROM kernel;
