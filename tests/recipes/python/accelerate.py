"""Stand-in for Hugging Face Accelerate: it reads no variable of Slurm, its launcher tells the ranks."""
import meeting


class Accelerator:
    def __init__(self):
        self.process_index, self.num_processes, self._address, self._port = meeting.rank_of_launcher()

    def reduce(self, value, reduction):
        assert reduction == "sum"
        words = meeting.meet(self._address, self._port, self.process_index == 0, self.num_processes, self.process_index,
                             value)
        return sum(words.values())
