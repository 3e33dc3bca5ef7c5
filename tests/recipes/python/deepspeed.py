"""Stand-in for DeepSpeed: it reads no variable of Slurm, its launcher tells the ranks."""
import meeting


class comm:
    @staticmethod
    def get_rank():
        return meeting.rank_of_launcher()[0]

    @staticmethod
    def get_world_size():
        return meeting.rank_of_launcher()[1]


def init_distributed(dist_backend):
    rank, world, address, port = meeting.rank_of_launcher()
    ranks = meeting.meet(address, port, rank == 0, world, rank)
    assert sorted(ranks) == list(range(world)), ranks
