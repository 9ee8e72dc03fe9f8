/* With sanitizers a test takes three times as long. Of many cases that go the same way it then tries a third; `make
 * test` tries all of them. */
#ifndef TILEWALK_TESTS_SUPPORT_SANITIZED_H
#define TILEWALK_TESTS_SUPPORT_SANITIZED_H

#ifdef __SANITIZE_ADDRESS__
enum { ONE_OF = 3 };
#else
enum { ONE_OF = 1 };
#endif

#endif
