/** The viewer's zone in a test, before anything formats a time: import it first. */
process.env.TZ = "Europe/Rome";
