/* Real time of calls: rank 0 tests a request that nothing completes. Usage: rate CALLS */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* real_us is not virtual: a system call, which nothing interposes. */
static double real_us(void)
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
	int rank, flag = 0, v = 0, calls = argc > 1 ? atoi(argv[1]) : 10000;
	MPI_Request q;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Irecv(&v, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q);
		double began = real_us();
		for (int i = 0; i < calls; i++)
			MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
		double us = real_us() - began;
		printf("%.2f us of real time per call\n", us / calls);
		MPI_Send(&v, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		MPI_Recv(&v, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&v, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
