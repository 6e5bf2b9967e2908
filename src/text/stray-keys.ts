/** A word such as `sk-…`: letters, a dash, and a long body in which all kinds of characters stand. */
const KEY_LIKE = /^[A-Za-z]{2,12}[-_](?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[\w~+=-]{16,}$/;

/** A JSON Web Token. */
const TOKEN = /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;

/**
 * RAGFlow's own keys, wherever they stand in a word: 32 or 43 characters after this prefix
 * (`generate_confirmation_token` in api/utils/api_utils.py, v0.15.0 to v0.27.0). Names of files have an ending.
 */
const OURS = /(?<![\w-])ragflow-(?=[\w.~-]*[a-z])(?=[\w.~-]*[A-Z])[\w.~-]{16,}/g;

/** Options that people type who take them for a way to give a key. */
const KEY_OPTION = /^--?(?:api[-_]?key|key|token|secret|password|bearer|auth(?:orization)?)$/i;

/** Characters: what is shorter is no key of any service, and a word of every other message. */
const SHORTEST = 8;

export type StrayKeys = {
	/** keys without a doubt: no output repeats them, nor a piece of them */
	readonly certain: ReadonlySet<string>;
	/** what may be a key, and may be a name: no message repeats it whole */
	readonly likely: ReadonlySet<string>;
};

/**
 * Every key in an environment and a command line, so that no word that is printed repeats it: a key is pasted into the
 * wrong place sooner or later.
 *
 * @param exists whether there is a file of that name: that is no key
 */
export function strayKeys(
	argv: readonly string[],
	env: Readonly<Record<string, string | undefined>>,
	exists: (path: string) => boolean,
): StrayKeys {
	const certain = new Set<string>();
	const likely = new Set<string>();
	const see = (word: string): void => {
		const bare = word.trim().replaceAll(/^["']|["']$/g, "");
		const ours = [...bare.matchAll(OURS)].map(([key]) => key);
		const isLike = KEY_LIKE.test(bare) || TOKEN.test(bare);
		if ((ours.length === 0 && !isLike) || exists(bare)) return;
		for (const key of ours) certain.add(key);
		if (ours.length === 0) likely.add(bare);
	};
	const own = env["RAGTAG_API_KEY"]?.trim() ?? "";
	if (own.length >= SHORTEST) certain.add(own);
	for (const [name, value] of Object.entries(env)) {
		if (name.startsWith("RAGTAG_") && name !== "RAGTAG_API_KEY" && value !== undefined) see(value);
	}
	// The sandbox prints its key: that is what it is for.
	const isSandbox = argv.includes("sandbox");
	for (const [at, word] of argv.entries()) {
		const [, name = argv[at - 1] ?? "", value = word] = /^(--?[\w-]+)=(.*)$/s.exec(word) ?? [];
		if (isSandbox && name === "--key") certain.delete(value);
		else if (KEY_OPTION.test(name) && value.length >= SHORTEST && !value.startsWith("-")) certain.add(value);
		else see(value);
	}
	return { certain, likely };
}
