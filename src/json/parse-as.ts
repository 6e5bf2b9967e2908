import * as v from "valibot";
import { jsonObjectOf } from "./parse-json.ts";

/** The output of a schema for the object of a JSON text; undefined where the text is no such object. */
export function parseAs<Schema extends v.GenericSchema>(
	schema: Schema,
	text: string,
): v.InferOutput<Schema> | undefined {
	const { success, output } = v.safeParse(schema, jsonObjectOf(text));
	return success ? output : undefined;
}
