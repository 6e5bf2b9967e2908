/**
 * Every form in which the body of a metadata update can be sent, with the words for people. `--body`, the profile and
 * doctor offer these forms, and `src/rest/bodies.ts` writes their bytes. The documented API takes all, in this order.
 */
export const BODY_FORMS = [
	{ name: "multipart", words: "multipart/form-data with one part" },
	{ name: "plain", words: "JSON text under a multipart/form-data header" },
	{ name: "json", words: "application/json" },
] as const satisfies readonly { readonly name: string; readonly words: string }[];

export type BodyForm = (typeof BODY_FORMS)[number]["name"];

/** The values of `--body`: `auto` is the form that the server takes. */
export type BodyChoice = BodyForm | "auto";

/** The names of all forms. */
export const bodyForms: readonly BodyForm[] = BODY_FORMS.map(({ name }) => name);
