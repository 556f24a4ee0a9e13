-- The fingerprint of everything up to a revision; empty where a program wrote it that kept none.
ALTER TABLE entry ADD COLUMN chain TEXT NOT NULL DEFAULT '';

-- That of the last revision, and of which revision it is: an older program that still runs moves on without it.
ALTER TABLE head ADD COLUMN chain TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000';
ALTER TABLE head ADD COLUMN chain_revision BIGINT NOT NULL DEFAULT 0;

-- That of the oldest revision that is known.
ALTER TABLE head ADD COLUMN oldest_chain TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000';
