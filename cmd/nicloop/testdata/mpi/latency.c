/* Half of a round trip of N bytes, measured as OSU's latency test does: latency BYTES. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	enum { WARMUP = 10, ROUNDS = 100 };
	int rank, n = argc > 1 ? atoi(argv[1]) : 8;
	char *buf = calloc(1, (size_t)n + 1);
	double began = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < WARMUP + ROUNDS; i++) {
		if (i == WARMUP)
			began = MPI_Wtime();
		if (rank == 0) {
			MPI_Send(buf, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
			MPI_Recv(buf, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == 1) {
			MPI_Recv(buf, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(buf, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
		}
	}
	if (rank == 0)
		printf("%d bytes: %.3f us\n", n, (MPI_Wtime() - began) * 1e6 / 2 / ROUNDS);
	MPI_Finalize();
	free(buf);
	return 0;
}
