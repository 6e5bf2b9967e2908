/** A word such as `sk-…`: letters, a dash, and a long body with digits and letters of both cases. */
const KEY_LIKE = /^[A-Za-z]{2,12}[-_](?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[\w~+=-]{16,}$/;

/** A JSON Web Token. */
const TOKEN = /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;

/**
 * RAGFlow's own keys anywhere in a word: 32 or 43 characters after this prefix (`generate_confirmation_token` in
 * api/utils/api_utils.py, v0.15.0 to v0.27.0).
 */
const RAGFLOW_KEY = /(?<![\w-])ragflow-(?=[\w.~-]*[a-z])(?=[\w.~-]*[A-Z])[\w.~-]{16,}/g;

/** Options that do not exist, and that people type to give a key. */
export const KEY_OPTION = /^--?(?:api[-_]?key|key|token|secret|password|bearer|auth(?:orization)?)$/i;

/** Characters: no service has shorter keys, and shorter words occur in many messages. */
const SHORTEST_KEY = 8;

/**
 * Every key in an environment and a command line, so that no output repeats it. A key may be pasted into the wrong place.
 *
 * @param exists whether a file has that name: then it is no key
 */
export function strayKeys(
	argv: readonly string[],
	env: Readonly<Record<string, string | undefined>>,
	exists: (path: string) => boolean,
) {
	/** certainly keys: no output repeats them, nor a piece of them */
	const certain = new Set<string>();
	/** keys or names: no message repeats a whole one */
	const likely = new Set<string>();
	const collect = (word: string): void => {
		const bare = word.trim().replaceAll(/^["']|["']$/g, "");
		const keys = [...bare.matchAll(RAGFLOW_KEY)].map(([key]) => key);
		const isLike = KEY_LIKE.test(bare) || TOKEN.test(bare);
		if ((keys.length === 0 && !isLike) || exists(bare)) return;
		for (const key of keys) certain.add(key);
		if (keys.length === 0) likely.add(bare);
	};
	const own = env["RAGTAG_API_KEY"]?.trim() ?? "";
	if (own.length >= SHORTEST_KEY) certain.add(own);
	for (const [name, value] of Object.entries(env)) {
		if (name.startsWith("RAGTAG_") && name !== "RAGTAG_API_KEY" && value !== undefined) collect(value);
	}
	// The sandbox has to print its own key.
	const isSandbox = argv.includes("sandbox");
	for (const [at, word] of argv.entries()) {
		const [, name = argv[at - 1] ?? "", value = word] = /^(--?[\w-]+)=(.*)$/s.exec(word) ?? [];
		if (isSandbox && name === "--key") certain.delete(value);
		else if (KEY_OPTION.test(name) && value.length >= SHORTEST_KEY && !value.startsWith("-")) certain.add(value);
		else collect(value);
	}
	return { certain, likely };
}
