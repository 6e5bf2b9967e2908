/** The style of the page as one minified text: see scripts/page-assets.mjs. */
declare module "asset:*" {
	const text: string;
	export default text;
}
