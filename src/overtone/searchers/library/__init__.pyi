from overtone.searchers.library.library import LibrarySearcher as LibrarySearcher
