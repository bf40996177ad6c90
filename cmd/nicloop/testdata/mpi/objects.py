"""Python objects and buffers through mpi4py, which loads the MPI library at run time."""
from mpi4py import MPI

world = MPI.COMM_WORLD
total = world.allreduce(world.rank)
ranks = world.gather(world.rank)
buffer = bytearray(100000)
if world.rank == 0:
    world.Send(b"x" * 100000, 1)
elif world.rank == 1:
    world.Recv(buffer, 0)
    assert buffer == b"x" * 100000
world.Barrier()
if world.rank == 0:
    print(f"sum {total}, gathered {ranks}")
