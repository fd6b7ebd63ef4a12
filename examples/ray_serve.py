"""Serve a packed scikit-learn model over HTTP with Ray Serve: python examples/ray_serve.py PACK"""

import sys

from ray import serve

import overtone


@serve.deployment
class Digits:
    def __init__(self, folder: str) -> None:
        self.model = overtone.load_pack(folder).checkpoint.to_dict()["model"]

    async def __call__(self, request) -> list[int]:
        return self.model.predict(await request.json()).tolist()


if __name__ == "__main__":
    serve.run(Digits.bind(sys.argv[1]), blocking=True)
