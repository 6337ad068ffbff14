/** Whether a shell reads the text as one word, and as nothing but itself. */
export const isShellWord = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text)

/** A text as one word of a command line that a shell reads, quoted where it has to be. */
export const shellWord = (text: string): string => (isShellWord(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
