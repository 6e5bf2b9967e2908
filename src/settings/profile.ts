import { dirname, join, resolve } from "node:path";
import { type BodyChoice, bodyForms } from "../body-forms.ts";
import { reason } from "../errors.ts";
import { alternatives } from "../text/words.ts";
import { checkedAddress } from "./address.ts";
import { policyOf } from "./policy.ts";
import type { Profile, RateSetting } from "./types.ts";
import type { Key, Member, YamlReader } from "./yaml-reader.ts";

type Context = {
	readonly file: string;
	readonly home: string | undefined;
};

type Draft = { -readonly [Member in keyof Profile]: Profile[Member] };

/** One profile of config.yaml from its node. */
export function profileOf(reader: YamlReader, key: Key, node: unknown, context: Context): Profile {
	const profile: Draft = { name: key.text };
	const what = `profile ${JSON.stringify(key.text)}`;
	for (const member of reader.members(reader.map(node, what, key.offset), what)) {
		const read = MEMBERS.get(member.key.text);
		if (read === undefined) {
			const known = [...MEMBERS.keys()].join(", ");
			throw reader.problem(member.key.offset, `unknown member ${JSON.stringify(member.key.text)}; known: ${known}`);
		}
		read(profile, member, reader, context);
	}
	const hasKey = profile.apiKeyFile !== undefined || profile.apiKeyCommand !== undefined;
	if (profile.apiKeyFile !== undefined && profile.apiKeyCommand !== undefined) {
		throw reader.problem(key.offset, `${what} has an api_key_file and an api_key_command: one of them must go`);
	}
	if (hasKey && profile.baseUrl === undefined) {
		throw reader.problem(key.offset, `${what} has a key but no base_url: a profile's key goes only to its own address`);
	}
	return profile;
}

type Read = (profile: Draft, member: Member, reader: YamlReader, context: Context) => void;

const MEMBERS: ReadonlyMap<string, Read> = new Map<string, Read>([
	[
		"base_url",
		(profile, member, reader) => {
			const setting = { value: text(member, reader), origin: `profile ${profile.name}` };
			try {
				profile.baseUrl = checkedAddress(setting).value;
			} catch (error) {
				throw reader.problem(member.key.offset, reason(error));
			}
		},
	],
	["api_key_file", (profile, member, reader, context) => (profile.apiKeyFile = path(member, reader, context))],
	["api_key_command", (profile, member, reader) => (profile.apiKeyCommand = text(member, reader))],
	["ca_file", (profile, member, reader, context) => (profile.caFile = path(member, reader, context))],
	["dataset", (profile, member, reader) => (profile.dataset = text(member, reader))],
	["rate", (profile, member, reader) => (profile.rate = rate(member, reader))],
	["body", (profile, member, reader) => (profile.body = body(member, reader))],
	["flavour", (profile, member, reader) => (profile.flavour = text(member, reader))],
	["policy", (profile, member, reader) => (profile.policy = policyOf(member, reader))],
	[
		"require_https",
		(profile, member, reader) => {
			const value = reader.scalar(member.value);
			if (typeof value !== "boolean") throw reader.mismatch(member, "true or false");
			profile.requireHttps = value;
		},
	],
]);

function text(member: Member, reader: YamlReader): string {
	const value = reader.scalar(member.value);
	if (typeof value !== "string") throw reader.mismatch(member, "text (put it in quotes if it looks like a number)");
	if (value === "") throw reader.mismatch(member, "text that is not empty");
	return value;
}

/** A path: `~/` is the home folder, and a relative one is relative to config.yaml, wherever the program is called. */
function path(member: Member, reader: YamlReader, { file, home }: Context): string {
	const value = text(member, reader);
	if (!value.startsWith("~/")) return resolve(dirname(file), value);
	if (home === undefined) throw reader.mismatch(member, "a path without ~, as there is no home folder");
	return join(home, value.slice(2));
}

function rate(member: Member, reader: YamlReader): RateSetting {
	const value = reader.scalar(member.value);
	if (value === "unlimited") return value;
	if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
	throw reader.mismatch(member, "a number of requests a second above 0, or unlimited");
}

function body(member: Member, reader: YamlReader): BodyChoice {
	const value = reader.scalar(member.value);
	const choice = (["auto", ...bodyForms] as const).find((each) => each === value);
	if (choice !== undefined) return choice;
	throw reader.mismatch(member, alternatives(["auto", ...bodyForms]));
}
