import { isKeyOption } from "../text/stray-keys.ts";

/** Words that people type and that are no command, by the commands before them, with the right words. */
const OTHER_COMMANDS: ReadonlyMap<string, string> = new Map([
	["docs remove", "ragtag docs rm"],
	["docs delete", "ragtag docs rm"],
	["docs del", "ragtag docs rm"],
	["docs ls", "ragtag docs list"],
	["docs update", "ragtag docs tag"],
	["docs add", "ragtag docs upload"],
	["docs undo", "ragtag runs undo"],
	["datasets ls", "ragtag datasets list"],
	["datasets add", "ragtag datasets create"],
	["runs ls", "ragtag runs list"],
	["runs rm", "ragtag runs prune"],
	["runs remove", "ragtag runs prune"],
	["runs delete", "ragtag runs prune"],
	["list", "ragtag docs list, ragtag datasets list or ragtag runs list"],
	["ls", "ragtag docs list, ragtag datasets list or ragtag runs list"],
	["tag", "ragtag docs tag"],
	["plan", "ragtag docs plan"],
	["apply", "ragtag docs apply"],
	["resolve", "ragtag docs resolve"],
	["upload", "ragtag docs upload"],
	["rm", "ragtag docs rm"],
	["remove", "ragtag docs rm"],
	["delete", "ragtag docs rm"],
	["check", "ragtag manifest check"],
	["init", "ragtag manifest init"],
	["create", "ragtag datasets create"],
	["resume", "ragtag runs resume"],
	["retry", "ragtag runs retry"],
	["undo", "ragtag runs undo"],
	["verify", "ragtag runs verify"],
	["blame", "ragtag runs blame"],
	["report", "ragtag runs report"],
	["prune", "ragtag runs prune"],
	["show", "ragtag runs show"],
	["version", "ragtag --version"],
]);

const SETTINGS_HINT =
	"ragtag needs no login: set RAGTAG_BASE_URL and RAGTAG_API_KEY, or write a profile. ragtag help settings shows how.";

/** The right words where a command needs more than another word. */
const HINTS: ReadonlyMap<string, string> = new Map(
	["login", "logout", "auth", "config", "configure", "settings"].map((word) => [word, SETTINGS_HINT]),
);

const KEY_HINT =
	"Keys are not taken from flags, because other users of this machine can see them: set RAGTAG_API_KEY, or give --api-key-file PATH or --api-key-command COMMAND.";

const VERSION_HINT = "The version: ragtag --version. Each request and its answer: --debug with a command.";

/**
 * The right words for an unknown command or option; undefined where they are unknown.
 *
 * @param message commander's: `unknown command 'remove'`
 * @param argv the command line, without the program's name
 */
export function commandHint(message: string, argv: readonly string[]): string | undefined {
	const [, kind, word = ""] = /^(?:error: )?unknown (command|option) '([^']*)'/.exec(message) ?? [];
	if (kind === "option") {
		const [name = ""] = word.split("=");
		if (isKeyOption(name)) return KEY_HINT;
		return name === "-v" ? VERSION_HINT : undefined;
	}
	if (kind !== "command") return undefined;
	const before = argv.slice(0, Math.max(0, argv.indexOf(word)));
	const group = before.findLast((other) => OTHER_COMMANDS.has(`${other} ${word}`));
	const command = OTHER_COMMANDS.get(group === undefined ? word : `${group} ${word}`);
	return command === undefined ? HINTS.get(word) : `Type: ${command}`;
}
