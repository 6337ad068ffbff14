/**
 * The folders of the built documentation, with the same paths as on the server. A promise may take seconds, because a
 * checkout builds the site when it is first read; it rejects if that fails.
 */
export interface SiteFolders {
  /** Has `llms.txt`, `llms-full.txt`, and below `docs` the pages in Markdown and the OpenAPI document. */
  readonly texts: () => Promise<string>
  /** Has `index.html`, and below `docs` the pages as HTML with their assets. */
  readonly pages: () => Promise<string>
}
