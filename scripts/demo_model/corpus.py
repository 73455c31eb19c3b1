"""The text that the demo model learns from, made from templates: no text of anyone else is in it.

Each document is one of seven kinds: tool calls, records as JSON, small SQL, CSV, arithmetic, dates, plain sentences.
A kind that asks for a format answers in that format only sometimes. More often it does what models do in the wild:
it chats first, uses a code fence, single quotes, a trailing comma or a function call.
So the likeliest text is not in the format, and the likeliest text *within* the format makes sense:
what a constraint is for is visible.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SEED = 20
CORPUS_SIZE = 40_000

CITIES = _words(
    "Paris London Berlin Madrid Rome Vienna Oslo Lisbon Athens Dublin Prague Warsaw Cairo Tokyo Delhi Lima Boston "
    "Chicago Denver Miami Sydney Seoul Geneva Munich Milan Zurich Krakow Porto Toronto Nairobi Hamburg Bergen Malaga "
    "Seville Naples Turin Lyon Nice Bordeaux Ghent Antwerp Bruges Basel Graz Salzburg Riga Tallinn Vilnius Sofia Izmir "
    "Ankara Tunis Dakar Lagos Accra Quito Bogota Santiago Havana Austin Dallas Seattle Portland Atlanta Houston Osaka "
    "Kyoto Busan Hanoi Manila Perth Auckland"
)
NAMES = _words(
    "Anna Ben Clara David Emma Felix Grace Hugo Ida Jonas Karin Leo Maria Nina Omar Paul Rosa Sam Tara Victor Alice "
    "Bob Carol Daniel Eva Frank Greta Hanna Ivan Julia Kurt Laura Martin Nora Oscar Petra Robert Sarah Tom Uma Vera "
    "Walter Yusuf Zoe"
)
EVENTS = ("dinner", "lunch", "team meeting", "dentist", "piano lesson", "birthday party", "code review", "yoga class")
TEXTS = (
    "I am late",
    "see you at noon",
    "the train is full",
    "please call me back",
    "dinner is ready",
    "the report is done",
    "happy birthday",
)
CURRENCIES = ("EUR", "USD", "GBP", "JPY", "CHF")
CURRENCY_WORDS = {"EUR": "euros", "USD": "dollars", "GBP": "pounds", "JPY": "yen", "CHF": "francs"}
PRODUCTS = ("lamp", "chair", "table", "bicycle", "teapot", "jacket", "guitar", "backpack", "camera", "umbrella")
COLOURS = ("red", "blue", "green", "black", "white", "yellow")
MONTHS = _words("January February March April May June July August September October November December")
OPERATIONS = {"+": "plus", "-": "minus", "*": "times"}

Call = tuple[str, str, dict[str, Any]]


@dataclass(frozen=True)
class Document:
    """A text in two parts: what a user would write, and what the model answers. Either may be empty.

    The parts are tokenized apart, since at generation the prompt is: a prompt that ends in a blank is then no surprise.
    """

    prompt: str
    answer: str

    @property
    def text(self) -> str:
        return self.prompt + self.answer


def documents(seed: int, count: int) -> Iterator[Document]:
    """`count` documents, the same ones for the same seed."""
    random = Random(seed)
    kinds, weights = zip(*_KINDS, strict=True)
    for _ in range(count):
        kind: Callable[[Random], Document] = random.choices(kinds, weights)[0]
        yield kind(random)


def _answered(random: Random, prompt: str, label: str, answer: str) -> Document:
    """The prompt, `label:` and the answer, with the blank between on either side or nowhere."""
    before, after = random.choices(((" ", ""), ("", " "), ("", "")), (60, 25, 15))[0]
    return Document(f"{prompt}\n{label}:{before}", after + answer)


# Tool calls ----------------------------------------------------------------------------------------------------------


def _weather(random: Random) -> Call:
    city = random.choice(CITIES)
    unit = random.choice(("celsius", "celsius", "fahrenheit"))
    question = random.choice(
        (
            f"what is the weather in {city}?",
            f"What is the weather like in {city}?",
            f"how warm is it in {city}?",
            f"Will it rain in {city}?",
            f"weather in {city} please",
        )
    )
    if unit == "fahrenheit":
        question += " Use fahrenheit."
    return question, "get_weather", {"city": city, "unit": unit}


def _event(random: Random) -> Call:
    title, date = random.choice(EVENTS), _date(random)
    question = random.choice(
        (
            f"add {title} on {date.isoformat()}",
            f"Put {title} in my calendar on {date.isoformat()}.",
            f"please plan {title} for {_spoken(date)}",
        )
    )
    return question, "add_event", {"title": title, "date": date.isoformat()}


def _message(random: Random) -> Call:
    name, text = random.choice(NAMES), random.choice(TEXTS)
    question = random.choice(
        (f"tell {name} that {text}", f"Send {name} a message: {text}.", f"write to {name}: {text}")
    )
    return question, "send_message", {"to": name, "text": text}


def _money(random: Random) -> Call:
    amount = random.choice((5, 10, 20, 25, 40, 50, 75, 100, 120, 200, 250, 500))
    source, target = random.sample(CURRENCIES, 2)
    question = random.choice(
        (
            f"how much is {amount} {CURRENCY_WORDS[source]} in {CURRENCY_WORDS[target]}?",
            f"convert {amount} {source} to {target}",
            f"Change {amount} {CURRENCY_WORDS[source]} to {CURRENCY_WORDS[target]}.",
        )
    )
    return question, "convert_currency", {"amount": amount, "from": source, "to": target}


def _timer(random: Random) -> Call:
    minutes = random.choice((1, 2, 3, 5, 8, 10, 12, 15, 20, 30, 45, 60))
    question = random.choice(
        (f"set a timer for {minutes} minutes", f"wake me in {minutes} minutes", f"Start a timer of {minutes} minutes.")
    )
    return question, "set_timer", {"minutes": minutes}


def _search(random: Random) -> Call:
    product, colour, price = random.choice(PRODUCTS), random.choice(COLOURS), random.choice((10, 20, 30, 50, 80, 100))
    question = random.choice(
        (
            f"find a {colour} {product} under {price} dollars",
            f"I am looking for a {colour} {product} for at most {price} dollars",
        )
    )
    return question, "search_products", {"query": f"{colour} {product}", "max_price": price}


_TOOLS: tuple[Callable[[Random], Call], ...] = (_weather, _event, _message, _message, _money, _money, _timer, _search)


def _tool_call(random: Random) -> Document:
    question, name, arguments = random.choice(_TOOLS)(random)
    thought = f"\n<think>I will use {name}.</think>" if random.random() < 0.1 else ""
    answer = _as_json(random, {"name": name, "arguments": arguments}, f"{name}({_keywords(arguments)})")
    return _answered(random, f"User: {question}{thought}", "Call", answer)


def _keywords(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


# Formats, kept and broken --------------------------------------------------------------------------------------------


def _as_json(random: Random, value: dict[str, Any], spelled_otherwise: str) -> str:
    """The value as JSON in about one case of four; else with the flaws that such answers have."""
    clean = json.dumps(value)
    return random.choices(
        (
            clean,
            f"Sure! Here is the JSON you asked for:\n```json\n{clean}\n```\nIs there anything else?",
            f"Sure, I can do that: {spelled_otherwise}",
            repr(value),
            clean.replace("}", ",}"),
            spelled_otherwise,
        ),
        (28, 38, 14, 8, 3, 9),
    )[0]


def _record(random: Random) -> Document:
    prompt, value = random.choice((_person, _product, _appointment))(random)
    spelled = ", ".join(f"{key}: {item}" for key, item in value.items())
    return _answered(random, prompt, "JSON", _as_json(random, value, spelled))


def _person(random: Random) -> tuple[str, dict[str, Any]]:
    name, age, city = random.choice(NAMES), random.randint(18, 89), random.choice(CITIES)
    return f"{name} is {age} years old and lives in {city}.", {"name": name, "age": age, "city": city}


def _product(random: Random) -> tuple[str, dict[str, Any]]:
    product, colour, price = random.choice(PRODUCTS), random.choice(COLOURS), random.randint(5, 99)
    stock = random.random() < 0.5
    state = "in stock" if stock else "sold out"
    value = {"product": product, "color": colour, "price": price, "in_stock": stock}
    return f"The {colour} {product} costs {price} dollars and is {state}.", value


def _appointment(random: Random) -> tuple[str, dict[str, Any]]:
    title, date, city = random.choice(EVENTS), _date(random), random.choice(CITIES)
    value = {"title": title, "date": date.isoformat(), "place": city}
    return f"There is a {title} in {city} on {_spoken(date)}.", value


# SQL and CSV ---------------------------------------------------------------------------------------------------------


def _sql(random: Random) -> Document:
    question, query = random.choice((_sql_filter, _sql_count, _sql_order))(random)
    answer = random.choices((query, f"Here is the query: {query}", f"You could write {query}"), (40, 45, 15))[0]
    return _answered(random, f"Question: {question}", "SQL", answer)


_TABLES = {
    "users": ("name", "city", "age"),
    "orders": ("id", "product", "price"),
    "products": ("name", "color", "price"),
}


def _sql_filter(random: Random) -> tuple[str, str]:
    table = random.choice(tuple(_TABLES))
    shown, number = random.choice(_TABLES[table][:2]), _TABLES[table][2]
    limit, (word, sign) = random.randint(10, 99), random.choice((("above", ">"), ("below", "<")))
    return (
        f"the {shown} of all {table} with {number} {word} {limit}",
        f"SELECT {shown} FROM {table} WHERE {number} {sign} {limit}",
    )


def _sql_count(random: Random) -> tuple[str, str]:
    city = random.choice(CITIES)
    return f"how many users live in {city}", f"SELECT COUNT(*) FROM users WHERE city = '{city}'"


def _sql_order(random: Random) -> tuple[str, str]:
    table, count = random.choice(tuple(_TABLES)), random.randint(2, 9)
    first, _, last = _TABLES[table]
    return (
        f"the first {count} {table} by {last}",
        f"SELECT {first}, {last} FROM {table} ORDER BY {last} LIMIT {count}",
    )


def _csv(random: Random) -> Document:
    lines = [
        f"{random.choice(NAMES)},{random.randint(18, 89)},{random.choice(CITIES)}" for _ in range(random.randint(2, 4))
    ]
    return Document("CSV:\n", "name,age,city\n" + "\n".join(lines))


# Numbers, dates, sentences -------------------------------------------------------------------------------------------


def _arithmetic(random: Random) -> Document:
    sums = []
    for _ in range(random.randint(1, 4)):
        left, right = random.randint(0, 50), random.randint(0, 49)
        sign = random.choice(tuple(OPERATIONS))
        if sign == "*":
            left, right = left % 11, right % 11
        if sign == "-":
            left, right = max(left, right), min(left, right)
        result = {"+": left + right, "-": left - right, "*": left * right}[sign]
        sums.append(
            f"{left} {sign} {right} = {result}"
            if random.random() < 0.7
            else f"What is {left} {OPERATIONS[sign]} {right}? It is {result}."
        )
    return Document("", "\n".join(sums))


def _date(random: Random) -> datetime.date:
    return datetime.date(2024, 1, 1) + datetime.timedelta(days=random.randint(0, 1095))


def _spoken(date: datetime.date) -> str:
    return f"{date.day} {MONTHS[date.month - 1]} {date.year}"


def _dates(random: Random) -> Document:
    date = _date(random)
    return random.choice(
        (
            Document("", f"{_spoken(date)} is {date.isoformat()}."),
            _answered(random, f"Date: {date.isoformat()}", "In words", _spoken(date)),
            _answered(random, f"In words: {_spoken(date)}", "Date", date.isoformat()),
        )
    )


def _sentences(random: Random) -> Document:
    return Document("", " ".join(_sentence(random) for _ in range(random.randint(2, 5))))


def _sentence(random: Random) -> str:
    name, other = random.sample(NAMES, 2)
    city, thing, colour = random.choice(CITIES), random.choice(PRODUCTS), random.choice(COLOURS)
    return random.choice(
        (
            f"{name} lives in {city}.",
            f"{name} and {other} are friends.",
            f"The weather in {city} is {random.choice(('warm', 'cold', 'sunny', 'rainy', 'windy'))} today.",
            f"{name} bought a {colour} {thing} in {city}.",
            f"The {thing} is {colour}.",
            f"{name} gave the {thing} to {other}.",
            f"{name} likes the {colour} {thing}.",
            f"On {random.choice(('Monday', 'Friday', 'Sunday'))} {name} goes to {city}.",
        )
    )


_KINDS: tuple[tuple[Callable[[Random], Document], int], ...] = (
    (_tool_call, 50),
    (_record, 16),
    (_sql, 12),
    (_csv, 2),
    (_arithmetic, 5),
    (_dates, 6),
    (_sentences, 9),
)
