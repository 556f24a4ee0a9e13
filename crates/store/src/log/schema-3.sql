-- How many documents a revision deleted is counted here, and not in the rows with the texts. The text is in it so that no row is read.
CREATE INDEX deletion ON change (revision, text) WHERE text IS NULL;
