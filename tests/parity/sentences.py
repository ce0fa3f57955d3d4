# SPDX-License-Identifier: Apache-2.0
"""What advisor may say, as patterns, and how each is held against the files. Words that are likely to change stand here.

A check gets (match, what is known) and returns what is wrong, or None. A sentence that no pattern knows is wrong itself.
"""

import re

TIME = r"([\d.]+) (ns|us|ms|s)"
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
SEVERITIES = (("critical", 0.2), ("high", 0.1), ("medium", 0.03), ("low", 0.01))


def ns(value, unit):
    return float(value) * NS[unit]


def room(value, unit):
    """Half of the last digit that is shown, and a little."""
    digits = len(value.partition(".")[2])
    return 0.51 * 10 ** -digits * NS[unit] + 1


# -- the screen

def head(match, known):
    captured, world = int(match[1]), match[2]
    if captured != len(known.captures):
        return f"{captured} ranks, not {len(known.captures)}"
    if world and known.world and int(world) != known.world:
        return f"a job of {world} ranks, not {known.world}"
    steps = known.step_times()
    if steps and match[3]:
        numbers = [int(n) for n in re.findall(r"\d+", match[3].split("(")[0])]
        wanted = range(numbers[0], numbers[-1] + 1)
        missing = [n for n in wanted if n not in steps]
        if missing:
            return f"there is no step {missing}"
        # Of one rank, or of the mean of several: within what the ranks took.
        times = [t for n in wanted for t in steps[n]]
        said = ns(match[4], match[5])
        if not 0.5 * min(times) <= said <= 1.5 * max(times):
            return f"a step of {said / 1e6} ms, recorded are {min(times) / 1e6} to {max(times) / 1e6}"
    return None


def account(match, known):
    shares = [int(share) for share in re.findall(r"\((\d+) %\)", match[0])]
    return f"shares of {sum(shares)} %" if not 90 <= sum(shares) <= 105 else None


def finding(match, known):
    severity, title = match[2].lower(), match[3].strip()
    shown = title.removesuffix("...").strip()
    one = next((f for f in known.findings if f["text"]["title"].removeprefix("probably: ").startswith(shown)), None)
    if one is None:
        return f"no finding is called {title}"
    share = one["gain_ns"] / known.step
    expected = next((name for name, least in SEVERITIES if share >= least), "info")
    if severity != "info" and severity not in (expected, one["severity"]):
        return f"{severity}, but it saves {100 * share:.1f} %"
    if match[4] and abs(ns(match[4], match[5]) - one["gain_ns"]) > room(match[4], match[5]):
        return f"saves {match[4]} {match[5]}, the document says {one['gain_ns']}"
    return "saves more than the step" if one["gain_ns"] > known.step else None


def captured(match, known):
    return None if int(match[1]) in known.captures else f"rank {match[1]} was not captured"


def not_judged(match, known):
    wrong = [f"{option} is asked for, but {what} are recorded" for option, what, has in (
        ("record_shapes=True", "shapes", known.has_shapes), ("with_stack=True", "stacks of Python", known.has_stacks),
        ("gc_detect_threshold", "collections of garbage", known.has_garbage)) if option in match[0] and has]
    return "; ".join(wrong) or None


def checks_passed(match, known):
    return None if int(match[1]) >= 0 else "no number"


def time_of_place(match, known):
    part, whole = ns(match[2], match[3]), ns(match[4], match[5])
    return "a part is more than the whole" if part > whole + room(match[4], match[5]) else None


def fits(match, known):
    return None


# -- why

def gain(match, known):
    saved, step = ns(match[1], match[2]), ns(match[3], match[4])
    if saved > step + room(match[3], match[4]):
        return "saves more than the step"
    return "another step" if abs(step - known.step) > room(match[3], match[4]) else None


def ranks(match, known):
    said = {int(n) for n in re.findall(r"\d+", match[1])}
    is_captured = said & set(known.captures)
    if "not captured" in match[1] and is_captured:
        return f"rank {is_captured} was captured"
    return None


def steps(match, known):
    recorded = known.step_times()
    missing = [n for n in map(int, re.findall(r"\d+", match[3])) if recorded and n not in recorded]
    return f"there is no step {missing}" if missing else None


def whole_capture(match, known):
    return "steps were recorded" if known.step_times() else None


def longest(match, known):
    """The event is in the capture, and lasts as long as is said."""
    start, said = int(match[3]), ns(match[1], match[2])
    events = known.events_at(start)
    if not events:
        return f"no event starts at {start}"
    if not any(said <= dur + room(match[1], match[2]) for dur in events):
        return f"no event at {start} lasts {match[1]} {match[2]}: {sorted(events)}"
    return None


def place(match, known):
    """A rank that was captured, and a name that its capture has; or the path of a capture."""
    rank, rest = int(match[1]), match[2]
    if rank not in known.captures:
        return f"rank {rank} was not captured"
    if rest.startswith("/"):
        return None if rest in map(str, known.paths) else f"{rest} is not a capture of the job"
    names = [re.sub(r" at [^ ]+:\d+$| for rank \d+$", "", part) for part in (rest, *rest.split(": "))]
    return None if any(known.has_name(rank, name) for name in names) else f"rank {rank} has nothing called {names}"


def looks_guilty(match, known):
    name = re.sub(r" at [^ ]+:\d+$", "", match[1])
    longest = max((known.longest_of(rank, name) for rank in known.captures), default=0)
    said = ns(match[2], match[3])
    if not longest:
        return f"nothing is called {name}"
    return f"the longest {name} takes {longest / 1e6} ms" if longest * known.most_calls(name) < 0.9 * said else None


def less_than_step(match, known):
    return "more than the step" if ns(match[1], match[2]) > known.step + room(match[1], match[2]) else None


def hidden(match, known):
    return None if int(match[1]) <= len(known.findings) else f"there is no finding {match[1]}"


SCREEN = (
    (r"(\d+)(?: of (\d+))? ranks?(?: captured)?(?:, steps? ([\d\-, ]+(?:\([^)]*\))?))?(?:, Level\d)?: step " + TIME, head),
    (r"compute .*\(\d+ %\).*", account),
    (r"device free: .*", fits),
    (r"late: rank (\d+) arrived .* after the second-to-last rank.*", captured),
    (r"(\d+) +(CRITICAL|HIGH|MEDIUM|LOW|INFO) +(?:probably: )?(.*?)(?: +saves " + TIME + r" \(.*\))?", finding),
    (r"Works as written, could be faster:|About the capture:|Settings:|Memory:", fits),
    (r"    (.*): " + TIME + r"? of " + TIME + r" a step.*", time_of_place),
    (r"Hidden behind (\d+)[\d\w ,]*: .*", hidden),
    (r"(\d+) (?:more: --json lists them(?:; \d+ )?|)(?:checks passed).*", checks_passed),
    (r"\d+ more: --json lists them.*", fits),
    (r"Not a cause: (.*?), " + TIME + r": .*", looks_guilty),
    (r"Not judged: .*", not_judged),
    (r"After all of these: " + TIME, less_than_step),
    (r"No finding above 1 % of the step\.", fits),
    (r"Next limit: .*", fits),
    (r"Next: msprof-analyze .*", fits),
    (r"    -> .*", fits),
    (r"    .*", fits),  # what was measured; why has it again with its event
)

WHY = (
    (r"(?:CRITICAL|HIGH|MEDIUM|LOW|INFO) .*", fits),
    (r"  gain +" + TIME + r" of a step of " + TIME + r"; .*", gain),
    (r"  sure +(?:low|medium|high).*", fits),
    (r"  ranks +(.*)", ranks),
    (r"  steps +the whole capture", whole_capture),
    (r"  steps +(\d+) of (\d+): (.*)", steps),
    (r" +longest " + TIME + r" at (\d+) ns, .*", longest),
    (r" +()" + TIME + r" of " + TIME + r" a step.*", time_of_place),
    (r"  where +rank (\d+): (.*)", place),
    (r" {13}rank (\d+): (\S.*)(?<!a step)(?<!us)(?<!ms)", place),
    (r"  (?:looked at|not if|measured|arrivals|path|hides|hidden by|covers|explains|where|work|late by|waiting|differs|stalls|needs|cause|after"
     r"|kind|note|evidence|fusion|times|group|other|of which|removes|setting|with) +.*", fits),
    (r" {10,}.*", fits),
    (r"  -> .*|  +next .*", fits),
)


def unfolded(lines):
    """Sentences of a screen: lines that go on by two spaces belong to the one before."""
    result = []
    for line in lines:
        if result and re.match(r" {2}\S", line) and not re.match(r"  (?:compute |device free: |late: )", line):
            result[-1] += " " + line.strip()
        elif result and re.match(r" {40,}saves", line):
            result[-1] += " " + line.strip()
        elif line.strip():
            result.append(line.strip() if re.match(r" {2}\S", line) else line.rstrip())
    return result


def wrong(table, sentence, known):
    """What is wrong with a sentence; None: nothing."""
    for pattern, check in table:
        if match := re.fullmatch(pattern, sentence):
            return check(match, known)
    return "no pattern knows this sentence"
