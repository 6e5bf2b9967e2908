import { CliError } from "../../src/errors.ts";

/** The usage error that a call throws. */
export function refused(act: () => unknown): CliError {
	try {
		act();
	} catch (error) {
		if (error instanceof CliError) return error;
		throw error;
	}
	throw new Error("it was accepted");
}
