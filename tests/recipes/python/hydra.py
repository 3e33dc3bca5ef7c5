"""Stand-in for Hydra with its submitit launcher: a sweep over all values given, each a job of an array."""
import functools
import itertools
import sys
import types

import submitit


def main(version_base=None, config_path=None, config_name=None):
    def decorate(function):
        if function.__module__ != "__main__":  # in the job
            return lambda overrides: function(types.SimpleNamespace(**overrides))

        @functools.wraps(function)
        def run():
            words = [word for word in sys.argv[1:] if word != "--multirun"]
            settings = dict(word.split("=", 1) for word in words)
            assert settings.pop("hydra/launcher") == "submitit_slurm"
            launcher = "hydra.launcher."
            executor = submitit.AutoExecutor(folder="multirun/.submitit")
            executor.update_parameters(**{key.removeprefix(launcher): int(settings.pop(key)) for key in list(settings)
                                          if key.startswith(launcher)})
            rows = itertools.product(*(value.split(",") for value in settings.values()))
            jobs = executor.map_array(run, [dict(zip(settings, row)) for row in rows])
            return [job.result() for job in jobs]
        return run
    return decorate
