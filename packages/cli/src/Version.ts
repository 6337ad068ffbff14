/** The version of this program: that of its package. */
export const VERSION = "0.1.0"
