/** Limit of lines that are read together, in characters. It bounds the work for each line. */
export const NEXT_LINES_CHARACTERS = 400

/** Marks that set the direction of text. Mail programs in Arabic and Hebrew write them around names and addresses. */
const DIRECTION = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Returns a line as it is compared: without marks of direction and without white space at its ends. */
export const comparable = (line: string): string => line.replace(DIRECTION, "").trim()

/** Whether a line begins with a quote mark. Some programs indent it by a space. */
export const isMarked = (line: string): boolean => /^ {0,2}[>＞]/.test(line)

/** Returns a line without its first quote marks. */
export const withoutMarks = (line: string): string => line.replace(/^[ >＞]{1,40}/, "")
