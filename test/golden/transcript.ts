import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { folder, KEY, type Service } from "../support/service.ts";
import { program } from "../support/program.ts";
import { ragtag, type World } from "../support/ragtag.ts";
import { mask } from "./mask.ts";

/** What a user types and sees, command by command, kept whole in `NAME.txt` beside the tests. */
export class Transcript {
	/** the folder that the commands work in; printed as FOLDER */
	readonly folder: string;
	readonly #env: Readonly<Record<string, string>>;
	readonly #home: string;
	#text = "";

	private constructor(place: string, home: string, env: Readonly<Record<string, string>>) {
		this.folder = place;
		this.#home = home;
		this.#env = env;
	}

	static async start(service?: Service): Promise<Transcript> {
		const address = service === undefined ? {} : { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: KEY };
		return new Transcript(await folder(), await folder(), address);
	}

	/** Makes a file in the folder, and shows it. Its path. */
	async file(name: string, content: string): Promise<string> {
		const path = join(this.folder, name);
		await writeFile(path, content);
		this.#text += `# ${path}\n${content}\n`;
		return path;
	}

	/**
	 * Runs one command line and writes down all that it printed, and its exit code. It runs the built program, as users do;
	 * the sources run only where the test gives them a terminal or a clock.
	 */
	async run(argv: readonly string[], world: World = {}): Promise<string> {
		const { stdin, env = this.#env, ...others } = world;
		const isBuilt = Object.keys(others).length === 0 && (stdin === undefined || typeof stdin === "string");
		const { exit, stdout, stderr } = isBuilt
			? await program(argv, { HOME: this.#home, XDG_STATE_HOME: join(this.#home, ".local/state"), ...env }, stdin)
			: await ragtag(argv, { env: this.#env, home: this.#home, ...world });
		this.#text += `$ ragtag ${argv.map(quoted).join(" ")}\n`;
		this.#text += `--- standard output\n${stdout}--- standard error\n${stderr}--- exit ${exit}\n\n`;
		return stdout;
	}

	/** Compares all of it with the file. After a change that is meant: `npm run build`, `npx vitest run test/golden -u`. */
	async matches(name: string): Promise<void> {
		await expect(mask(this.#text, this.folder, this.#home)).toMatchFileSnapshot(`${name}.txt`);
	}
}

function quoted(word: string): string {
	return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
