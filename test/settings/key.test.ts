import { chown, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveSettings } from "../../src/settings.ts";
import { keyFromCommand } from "../../src/settings/key-command.ts";
import { complaint, file, KEY, world } from "./helpers.ts";
import { folder } from "../support/service.ts";

const HERE = { RAGTAG_BASE_URL: "http://127.0.0.1:9380" };

describe("where the key comes from", () => {
	it("flags, RAGTAG_API_KEY, its file, RAGTAG_API_KEY_COMMAND, systemd's credential, the profile of RAGTAG_PROFILE", async () => {
		const [home, credentials] = [await folder(), await folder()];
		const flagFile = await file(join(home, "flag"), "from-flag\n");
		const envFile = await file(join(home, "env"), "from-env-file\r\n");
		await file(join(credentials, "ragtag-api-key"), "from-systemd\n");
		await file(join(home, ".config/ragtag/p"), "from-profile");
		await file(
			join(home, ".config/ragtag/config.yaml"),
			"profiles: {p: {base_url: 'http://127.0.0.1:9380/api/v1', api_key_file: p}}",
		);
		const key = async (flags: object, env: Record<string, string>): Promise<string> => {
			const sources = world({ ...HERE, CREDENTIALS_DIRECTORY: credentials, PATH: "/usr/bin:/bin", ...env }, home);
			return (await resolveSettings(flags, sources)).key();
		};
		const profile = { RAGTAG_PROFILE: "p" };
		const command = { ...profile, RAGTAG_API_KEY_COMMAND: "echo from-command" };
		const envs = { ...command, RAGTAG_API_KEY_FILE: envFile };
		const all = { ...envs, RAGTAG_API_KEY: "from-env" };
		expect(await key({ apiKeyFile: flagFile }, all)).toBe("from-flag");
		expect(await key({ apiKeyCommand: "echo from-flag" }, all)).toBe("from-flag");
		expect(await key({}, all)).toBe("from-env");
		expect(await key({}, envs)).toBe("from-env-file");
		expect(await key({}, command)).toBe("from-command");
		expect(await key({}, profile)).toBe("from-systemd");
		expect(await key({}, { ...profile, CREDENTIALS_DIRECTORY: home })).toBe("from-profile");
	});

	it.each(["\n", "\r\n", "\n\n", "\r\n\r\n\n"])("the file may end in empty lines, %#", async (end) => {
		const path = await file(join(await folder(), "key"), KEY + end);
		expect(await (await resolveSettings({ apiKeyFile: path }, world(HERE))).key()).toBe(KEY);
	});

	it("standard input is read once, and only when the key is needed", async () => {
		const sources = world(HERE, undefined, `${KEY}\n`);
		const settings = await resolveSettings({ apiKeyFile: "-" }, sources);
		expect(sources.asked).toBe(0);
		expect([await settings.key(), await settings.key()]).toEqual([KEY, KEY]);
		expect(sources.asked).toBe(1);
	});

	it("a missing key names the variables to set and the sandbox", async () => {
		const { exit, text } = await complaint((await resolveSettings({}, world(HERE))).key());
		expect(exit).toBe(2);
		for (const word of ["RAGTAG_API_KEY", "RAGTAG_API_KEY_FILE", "ragtag sandbox"]) expect(text).toContain(word);
	});

	it.each([`${KEY} x`, `${KEY}\n \n`, `\n${KEY}`, `"${KEY}\u00e9"`, `${KEY}\nsecond`, `\u0000${KEY}`, "\n"])(
		"malformed key %# is refused and no piece of it is shown",
		async (raw) => {
			const found = await complaint((await resolveSettings({}, world({ ...HERE, RAGTAG_API_KEY: raw }))).key());
			expect(found.exit).toBe(2);
			expect(found.text).not.toMatch(/Canary|7Qx2Zp|9Lm4/);
		},
	);
});

describe("permissions of the key file", () => {
	async function read(mode: number): Promise<{ key: string; warnings: string[] }> {
		const path = await file(join(await folder(), "key"), KEY, mode);
		const sources = world(HERE);
		return { key: await (await resolveSettings({ apiKeyFile: path }, sources)).key(), warnings: sources.warnings };
	}

	it("a private file is accepted, and one that its group can read", async () => {
		expect(await read(0o600)).toEqual({ key: KEY, warnings: [] });
		expect(await read(0o440)).toEqual({ key: KEY, warnings: [] });
	});

	it("a file that everyone can read causes a warning", async () => {
		const { key, warnings } = await read(0o644);
		expect(key).toBe(KEY);
		expect(warnings.join()).toContain("every user of this machine can read");
	});

	it.each([0o620, 0o602])("a key file that others can write is refused: mode %o", async (mode) => {
		expect((await complaint(read(mode))).text).toContain("can be written by others");
	});

	it("a key file of another user is refused", async () => {
		const path = await file(join(await folder(), "key"), KEY);
		// Root's files are taken by everyone: as root, give the file away; as a user, be somebody else.
		if (process.getuid?.() === 0) await chown(path, 4_000_000, 4_000_000);
		const sources = { ...world(HERE), uid: 4_000_001 };
		const found = await complaint((await resolveSettings({ apiKeyFile: path }, sources)).key());
		expect(found.text).toContain("belongs to another user");
	});

	it("a mounted secret, a link to a group-readable file, is accepted", async () => {
		const path = await folder();
		await mkdir(join(path, "..data"));
		await file(join(path, "..data", "key"), KEY, 0o440);
		await symlink(join("..data", "key"), join(path, "key"));
		const settings = await resolveSettings({ apiKeyFile: join(path, "key") }, world(HERE));
		expect(await settings.key()).toBe(KEY);
	});

	it("a missing file is named", async () => {
		const path = join(await folder(), "nothing");
		const found = await complaint((await resolveSettings({}, world({ ...HERE, RAGTAG_API_KEY_FILE: path }))).key());
		expect(found.text).toContain(`the API key file of RAGTAG_API_KEY_FILE, ${path}: no such file`);
	});
});

describe("a command that prints the key", () => {
	const env = { env: { PATH: "/usr/bin:/bin", RAGTAG_API_KEY: KEY }, warn: () => undefined };

	it("gives the first line", async () => {
		expect(await keyFromCommand("echo one; echo two", "profile p", env)).toBe("one\n");
	});

	it("is no mystery when a service has credentials, and none is ours", async () => {
		const settings = await resolveSettings({}, world({ ...HERE, CREDENTIALS_DIRECTORY: await folder() }));
		expect((await complaint(settings.key())).text).toContain("no API key is set");
	});

	it("may not go to a profile's address while a variable names another one", async () => {
		const home = await folder();
		await file(join(home, ".config/ragtag/config.yaml"), "profiles: {p: {base_url: 'http://127.0.0.1:1'}}");
		const credentials = await folder();
		await file(join(credentials, "ragtag-api-key"), "from-systemd\n");
		for (const env of [{ CREDENTIALS_DIRECTORY: credentials }, { RAGTAG_API_KEY_COMMAND: "echo key" }]) {
			const settings = await resolveSettings({ profile: "p" }, world({ ...HERE, ...env }, home));
			expect((await complaint(settings.key())).text).toContain("may be the key of another service");
		}
	});

	it("excludes a file of the key, and can't be empty", async () => {
		const both = resolveSettings({ apiKeyCommand: "echo a", apiKeyFile: "b" }, world(HERE));
		expect((await complaint(both)).text).toContain("--api-key-file and --api-key-command exclude each other");
		const empty = resolveSettings({ apiKeyCommand: " " }, world(HERE));
		expect((await complaint(empty)).text).toContain("--api-key-command is empty");
	});

	it("shows what the command says on standard error, without the key", async () => {
		const warnings: string[] = [];
		const sources = { ...env, warn: (text: string) => void warnings.push(text) };
		await keyFromCommand(`echo ${KEY}; echo "unlocked: ${KEY}" >&2`, "--api-key-command", sources);
		expect(warnings.join("\n")).toMatch(/^the command of --api-key-command says: unlocked: /);
		expect(warnings.join("\n")).not.toContain(KEY.slice(10, 16));
		const failing = keyFromCommand("echo 'gpg: no secret key' >&2; exit 2", "--api-key-command", env);
		expect((await complaint(failing)).text).toContain(
			"the command of --api-key-command failed with exit code 2: gpg: no secret key",
		);
		const other = keyFromCommand("echo 'bad token abcdefgh12345678' >&2; exit 2", "--api-key-command", env);
		expect((await complaint(other)).text).toContain("failed with exit code 2: bad token ***");
	});

	it("that fails is reported without its output", async () => {
		const found = await complaint(keyFromCommand(`echo ${KEY}; echo ${KEY} >&2; exit 3`, "profile p", env));
		expect(found).toMatchObject({ exit: 2 });
		expect(found.text).toContain("api_key_command of profile p failed with exit code 3");
		expect(found.text).not.toContain("Canary");
	});

	it("ends when the program is stopped", async () => {
		const stopping = new AbortController();
		const key = keyFromCommand("exec sleep 600", "profile p", { ...env, signal: stopping.signal });
		stopping.abort();
		await expect(key).rejects.toThrow("stopped");
	});

	it("does not get the key of a variable, which is for another service", async () => {
		expect(await keyFromCommand('echo "<$RAGTAG_API_KEY>"', "profile p", env)).toBe("<>\n");
	});

	it("that prints without end is stopped, and the message says why", async () => {
		const found = await complaint(keyFromCommand(`echo ${KEY}; exec yes`, "profile p", env));
		expect(found.text).toContain("the api_key_command of profile p printed more than a megabyte");
	});

	it("that never ends is stopped", async () => {
		expect((await complaint(keyFromCommand("exec sleep 600", "profile p", env, 20))).text).toContain("did not end");
	});
});
