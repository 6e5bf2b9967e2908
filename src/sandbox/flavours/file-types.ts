/**
 * Endings of file names that the releases take; a file of any other, or of none, is refused. All of them have these; an
 * ending that only some have is left out.
 */
export const fileTypes: ReadonlySet<string> = new Set(
	[
		"pdf msg eml doc docx ppt pptx yml xml htm html json csv txt ini xls xlsx wps rtf hlp pages numbers key md",
		"py js java c cpp h php go ts sh cs kt sql",
		"wav flac ape alac wv mp3 aac ogg opus",
		"jpg jpeg png tif gif pcx tga exif fpx svg psd cdr pcd dxf ufo eps ai raw wmf webp avif apng ico",
		"mpg mpeg avi rm rmvb mov wmv asf dat mp4 mkv",
	].flatMap((line) => line.split(" ")),
);
