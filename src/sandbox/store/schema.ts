/** "ragt": marks a file as ours, so that the database of another program given by mistake is left alone. */
export const applicationId = 0x72_61_67_74;

/** Raised when the tables change: a file of another layout is refused. */
export const layoutVersion = 2;

/**
 * `seq` is the order of creation, which lists are in. Metadata is JSON text, keys in the order they were sent.
 * `name_key` is what two names that are alike have in common. The bytes of a document are rows of `chunks`, because an upload is written as it comes and never held whole.
 */
export const schema = `
	CREATE TABLE IF NOT EXISTS datasets (
		seq INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		name TEXT NOT NULL,
		name_key TEXT NOT NULL,
		document_count INTEGER NOT NULL DEFAULT 0
	);
	CREATE TABLE IF NOT EXISTS documents (
		seq INTEGER PRIMARY KEY,
		dataset INTEGER NOT NULL REFERENCES datasets (seq),
		id TEXT NOT NULL UNIQUE,
		name TEXT NOT NULL,
		name_key TEXT NOT NULL,
		size INTEGER NOT NULL,
		create_time INTEGER NOT NULL,
		update_time INTEGER NOT NULL,
		meta_fields TEXT NOT NULL
	);
	CREATE INDEX IF NOT EXISTS documents_by_name ON documents (dataset, name);
	CREATE INDEX IF NOT EXISTS documents_by_name_key ON documents (dataset, name_key);
	CREATE INDEX IF NOT EXISTS documents_by_dataset ON documents (dataset);
	CREATE TABLE IF NOT EXISTS chunks (
		document TEXT NOT NULL,
		position INTEGER NOT NULL,
		bytes BLOB NOT NULL,
		PRIMARY KEY (document, position)
	);
	CREATE TABLE IF NOT EXISTS parsing (
		document TEXT PRIMARY KEY,
		method TEXT NOT NULL,
		config TEXT NOT NULL
	);
	PRAGMA application_id = ${applicationId};
	PRAGMA user_version = ${layoutVersion};
`;
