from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

version: str
_Progress = Optional[Callable[[int, int], object]]
_Entries = List[Dict[str, Any]]
_Column = Tuple[str, npt.NDArray[Any], Optional[List[str]]]

def run(
    command: str, words: Sequence[str], texts: Mapping[str, str], on_progress: _Progress
) -> Tuple[int, str, _Entries]: ...
def predict(
    words: Sequence[str], texts: Mapping[str, str], on_progress: _Progress
) -> Tuple[int, List[_Column], Dict[str, Any], _Entries]: ...
def programs(text: str, name: str) -> Tuple[str, _Entries]: ...
def wait_for_background(seconds: float) -> bool: ...
