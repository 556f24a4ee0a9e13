-- The end of the log, and the state before the first entry that is kept. One row.
CREATE TABLE head (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    revision BIGINT NOT NULL,
    digest TEXT NOT NULL,
    oldest BIGINT NOT NULL,
    oldest_digest TEXT NOT NULL
);

INSERT INTO head (only_one, revision, digest, oldest, oldest_digest) VALUES (
    1,
    0,
    '0000000000000000000000000000000000000000000000000000000000000000',
    0,
    '0000000000000000000000000000000000000000000000000000000000000000'
);

CREATE TABLE entry (
    revision BIGINT PRIMARY KEY,
    time TEXT NOT NULL,
    actor TEXT NOT NULL,
    message TEXT,
    digest TEXT NOT NULL
);

-- What a revision changed, in the order of place. A deletion has no text. Since when a document is there without a break decides
-- where it stands among the others.
CREATE TABLE change (
    revision BIGINT NOT NULL,
    place BIGINT NOT NULL,
    key TEXT NOT NULL,
    text TEXT,
    since_revision BIGINT NOT NULL,
    since_place BIGINT NOT NULL,
    PRIMARY KEY (key, revision)
);

CREATE UNIQUE INDEX change_in_order ON change (revision, place);

CREATE TABLE idempotency (
    name TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    revision BIGINT NOT NULL,
    time TEXT NOT NULL
);
