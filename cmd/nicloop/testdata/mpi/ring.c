/* A token goes round all ranks; each adds one to it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, token = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double began = MPI_Wtime();
	if (rank == 0) {
		MPI_Send(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("token %d after %.3f us\n", token, (MPI_Wtime() - began) * 1e6);
	} else {
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		token++;
		MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
