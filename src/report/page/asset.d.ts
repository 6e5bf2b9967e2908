/** A file of the page with all that it imports, as one minified text: see scripts/page-assets.mjs. */
declare module "asset:*" {
	const text: string;
	export default text;
}
