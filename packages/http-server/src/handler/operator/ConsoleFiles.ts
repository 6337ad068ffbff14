/** The folder of the files that the console consists of, the same seen from a source and from a built file. */
export const consoleFolder = new URL("../../../console/", import.meta.url)
