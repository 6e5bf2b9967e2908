import { CliError } from "../../errors.ts";
import type { Check } from "../../report/checks.ts";

export type Attempted<Value> = { readonly value: Value } | { readonly error: CliError };

/** What came of it, where an error for people is a result: one check that fails must not end the others. */
export async function attempt<Value>(call: () => Promise<Value> | Value): Promise<Attempted<Value>> {
	try {
		return { value: await call() };
	} catch (error) {
		if (error instanceof CliError) return { error };
		throw error;
	}
}

/** The check that failed with this error. */
export function failed(name: string, { message, hint, exit }: CliError, next = "ragtag doctor"): Check {
	return { name, status: "failed", text: message, hint, exit, next };
}

export function skipped(name: string, text: string, hint?: string, next?: string): Check {
	return { name, status: "skipped", text, hint, next };
}
